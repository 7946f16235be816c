// Files on their way to the server. A browser keeps no copy of a chosen file: one that was changed since can't be read.
import { ApiError } from "./errors";

/** The form with its files' content in it. Throws an `ApiError` naming a file that can't be read any more. */
export async function withContents(form: FormData): Promise<FormData> {
  for (const [field, value] of [...form.entries()]) {
    if (value instanceof File) form.set(field, new File([await contentOf(value)], value.name));
  }
  return form;
}

async function contentOf(file: File): Promise<ArrayBuffer> {
  try {
    return await file.arrayBuffer();
  } catch (cause) {
    const problem = {
      type: "about:blank",
      title: "File unreadable",
      status: 0,
      code: "file-unreadable",
      detail: `${file.name} has changed or gone since it was chosen.`,
      remedy: "Choose it again; what else is filled in stays.",
    };
    throw new ApiError(problem, null, { cause });
  }
}
