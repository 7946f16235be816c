import type { ReactNode } from "react";

// Model cards are short: headings, paragraphs, lists, tables, code and emphasis. Everything enters as
// text nodes; anything else stays the text it is.

function inline(text: string): ReactNode[] {
  const parts = text.split(
    /(`[^`]+`|\*\*[^*]+\*\*|(?<![\w*])\*[^*\s][^*]*\*(?![\w*])|\[[^\]]+\]\(https?:\/\/[^)\s]+\))/,
  );
  return parts.map((part, i) => {
    const key = `${i}`;
    if (/^`[^`]+`$/.test(part)) return <code key={key}>{part.slice(1, -1)}</code>;
    if (/^\*\*[^*]+\*\*$/.test(part)) return <strong key={key}>{part.slice(2, -2)}</strong>;
    if (/^\*[^*]+\*$/.test(part)) return <em key={key}>{part.slice(1, -1)}</em>;
    const link = /^\[([^\]]+)\]\((https?:\/\/[^)\s]+)\)$/.exec(part);
    if (link) {
      return (
        <a key={key} href={link[2]} rel="noreferrer noopener">
          {link[1]}
        </a>
      );
    }
    return part;
  });
}

type Block =
  | { kind: "heading" | "paragraph" | "code"; text: string }
  | { kind: "list"; items: string[] }
  | { kind: "table"; rows: string[][] };

function cells(line: string): string[] {
  return line
    .trim()
    .replace(/^\||\|$/g, "")
    .split("|")
    .map((cell) => cell.trim());
}

function blockOf(text: string): Block {
  const lines = text.split("\n");
  const first = lines[0] ?? "";
  if (/^#{1,6} /.test(first) && lines.length === 1)
    return { kind: "heading", text: first.replace(/^#+ /, "") };
  if (lines.length > 1 && lines.every((line) => /^\s*\|/.test(line))) {
    return { kind: "table", rows: lines.filter((line) => !/^\s*\|[\s:|-]+\|?\s*$/.test(line)).map(cells) };
  }
  if (/^\s*[-*] /.test(first)) {
    const items = text
      .split(/\n(?=\s*[-*] )/)
      .map((item) => item.replace(/^\s*[-*] /, "").replace(/\s*\n\s*/g, " "));
    return { kind: "list", items };
  }
  return { kind: "paragraph", text: lines.join(" ") };
}

/** Blocks are parted by blank lines; fenced code keeps its own. */
export function blocks(source: string): Block[] {
  const body = source.replace(/\r/g, "").replace(/^---\n[\s\S]*?\n---\n/, "");
  return body.split(/^```.*$/m).flatMap((piece, i): Block[] => {
    if (i % 2 === 1) return [{ kind: "code", text: piece.replace(/^\n|\n$/g, "") }];
    const parted = piece.replace(/^(#{1,6} .*)$/gm, "\n$1\n");
    return parted
      .split(/\n\s*\n/)
      .map((text) => text.replace(/^\n+|\n+$/g, ""))
      .filter((text) => text.trim() !== "")
      .map(blockOf);
  });
}

function BlockView({ block }: { block: Block }) {
  switch (block.kind) {
    case "heading":
      return <h3>{inline(block.text)}</h3>;
    case "code":
      return <pre>{block.text}</pre>;
    case "list":
      return (
        <ul>
          {block.items.map((item) => (
            <li key={item}>{inline(item)}</li>
          ))}
        </ul>
      );
    case "table":
      return (
        <table className="table">
          <thead>
            <tr>
              {block.rows[0]?.map((cell) => (
                <th key={cell}>{inline(cell)}</th>
              ))}
            </tr>
          </thead>
          <tbody>
            {block.rows.slice(1).map((row) => (
              <tr key={row.join("|")}>
                {row.map((cell, i) => (
                  <td key={`${i}${cell}`}>{inline(cell)}</td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      );
    case "paragraph":
      return <p>{inline(block.text)}</p>;
  }
}

export function Markdown({ source }: { source: string }) {
  return (
    <div className="prose">
      {blocks(source).map((block, i) => (
        <BlockView key={i} block={block} />
      ))}
    </div>
  );
}
