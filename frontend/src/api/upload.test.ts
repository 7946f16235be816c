import { describe, expect, it } from "vitest";
import { withContents } from "./upload";

function formOf(file: File): FormData {
  const form = new FormData();
  form.append("name", "mine");
  form.append("file", file);
  return form;
}

describe("a form with a file", () => {
  it("holds the file's content under its name", async () => {
    const form = await withContents(formOf(new File(["a,b"], "rows.csv")));
    const file = form.get("file");
    expect(form.get("name")).toBe("mine");
    expect(file instanceof File && [file.name, file.size]).toEqual(["rows.csv", 3]);
  });

  it("says which file can't be read any more, and what to do", async () => {
    const gone = new File(["a,b"], "rows.csv");
    gone.arrayBuffer = () => Promise.reject(new DOMException("changed", "NotReadableError"));
    const problem = { detail: "rows.csv has changed or gone since it was chosen.", code: "file-unreadable" };
    await expect(withContents(formOf(gone))).rejects.toMatchObject({ problem });
  });
});
