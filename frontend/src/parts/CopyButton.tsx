import { useEffect, useState } from "react";

async function copy(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return false;
  }
}

/** Copies text and says so; where the browser forbids it, it says that. */
export function CopyButton({ text, label = "Copy" }: { text: string; label?: string }) {
  const [said, setSaid] = useState<string | null>(null);
  useEffect(() => {
    if (said === null) return;
    const timer = setTimeout(() => setSaid(null), 2000);
    return () => clearTimeout(timer);
  }, [said]);
  return (
    <button
      type="button"
      className="button"
      onClick={() => void copy(text).then((done) => setSaid(done ? "Copied" : "Select it and copy by hand"))}
    >
      <span aria-live="polite">{said ?? label}</span>
    </button>
  );
}
