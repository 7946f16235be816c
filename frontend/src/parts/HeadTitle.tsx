import type { Head } from "../url/heads";

interface HeadTitleProps {
  head: Head;
  onDeselect: () => void;
}

/** The selected head, by name, and the way to let go of it. */
export function HeadTitle({ head, onDeselect }: HeadTitleProps) {
  return (
    <header className="head-title">
      <h2>
        Layer {head.layer} · head {head.head}
      </h2>
      <button type="button" className="button quiet icon" aria-label="Deselect the head" onClick={onDeselect}>
        ×
      </button>
    </header>
  );
}
