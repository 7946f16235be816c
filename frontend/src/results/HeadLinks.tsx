import { DEFAULT_LAB } from "../url/lab";
import { Link } from "../url/navigation";
import { DEFAULT_CIRCUITS, type Head, headName } from "../url/view";

interface HeadLinksProps {
  model: string;
  head: Head;
  /** Lead to its circuits: not from there. */
  circuits?: boolean;
}

/** From a head to where it can be tried and taken apart. */
export function HeadLinks({ model, head, circuits = true }: HeadLinksProps) {
  const name = headName(head);
  return (
    <p className="head-links">
      <Link to={{ page: "lab", ...DEFAULT_LAB, model, head, mute: name }}>Mute it in the prompt lab</Link>
      {circuits && (
        <Link to={{ page: "circuits", model, circuits: { ...DEFAULT_CIRCUITS, head, tab: "head" } }}>
          Its circuits
        </Link>
      )}
    </p>
  );
}
