/** Beside the tokens and the patterns: the gates in hand and what they do. */
export function Side() {
  return null;
}
