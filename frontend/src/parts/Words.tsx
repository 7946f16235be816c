/** A sentence whose `commands` stand in backticks, as the server writes them. */
export function Words({ text }: { text: string }) {
  return text.split(/`([^`]+)`/).map((part, i) => (i % 2 === 1 ? <code key={i}>{part}</code> : part));
}
