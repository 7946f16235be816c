// Numbers as people read them: three significant figures, a true minus, the unit beside.

const MINUS = "−";
const NARROW = "\u202f";
export const NOTHING = "–";

type Maybe = number | null | undefined;

function known(value: Maybe): value is number {
  return typeof value === "number" && Number.isFinite(value);
}

function signed(text: string): string {
  return text.replace("-", MINUS);
}

/** Three significant figures: −0.412, 12.3, 1,230. Very large and very small ones as powers of ten. */
export function number(value: Maybe): string {
  if (!known(value)) return NOTHING;
  if (value === 0) return "0";
  const size = Math.abs(value);
  if (size >= 1e7 || size < 1e-4) {
    const [mantissa, exponent] = value.toExponential(2).split("e") as [string, string];
    return signed(`${Number(mantissa)}e${Number(exponent)}`);
  }
  return signed(Number(value.toPrecision(3)).toLocaleString("en-US", { maximumSignificantDigits: 3 }));
}

/** Something measured: three significant figures, zeros at the end too, so that columns line up: 0.990. */
export function measured(value: Maybe): string {
  if (!known(value) || value === 0) return number(value);
  const size = Math.abs(value);
  return size >= 99.95 || size < 1e-4 ? number(value) : signed(value.toPrecision(3));
}

/** A whole number with its thousands marked. */
export function count(value: Maybe): string {
  return known(value) ? signed(Math.round(value).toLocaleString("en-US")) : NOTHING;
}

/** A share in [0, 1] as percent. What is small but not nothing never reads 0 %. */
export function percent(value: Maybe): string {
  if (!known(value)) return NOTHING;
  const hundred = value * 100;
  if (hundred > 0 && hundred < 0.01) return `<${NARROW}0.01${NARROW}%`;
  return `${measured(hundred)}${NARROW}%`;
}

/** Two shares as percent with one decimal, before and after: "98.3 → 5.5 %". What is small but not nothing is "<0.1". */
export function percentChange(before: Maybe, after: Maybe): string {
  const short = (value: Maybe): string => {
    if (!known(value)) return NOTHING;
    return value > 0 && value < 0.0005 ? "<0.1" : (value * 100).toFixed(1);
  };
  return `${short(before)} → ${short(after)}${NARROW}%`;
}

/** How far something is, in whole percent. */
export function progress(fraction: number): string {
  return `${Math.floor(fraction * 100)}${NARROW}%`;
}

/** A share with two decimals and no leading zero, as papers write accuracies: .42, 1.00. */
export function share(value: Maybe): string {
  return known(value) ? signed(value.toFixed(2).replace(/^(-?)0\./, "$1.")) : NOTHING;
}

/** Lowest to highest of some shares: ".84–.92", or one where they read the same. */
export function shareRange(values: readonly number[]): string {
  const finite = values.filter(known);
  if (finite.length === 0) return NOTHING;
  const low = share(Math.min(...finite));
  const high = share(Math.max(...finite));
  return low === high ? low : `${low}–${high}`;
}

/** A length of time: "43 s", "12 min", "2 h 5 min". */
export function duration(seconds: Maybe): string {
  if (!known(seconds) || seconds < 0) return NOTHING;
  if (seconds < 10) return `${number(Number(seconds.toFixed(1)))}${NARROW}s`;
  if (seconds < 99.5) return `${Math.round(seconds)}${NARROW}s`;
  const minutes = Math.round(seconds / 60);
  if (minutes < 100) return `${minutes}${NARROW}min`;
  const rest = minutes % 60;
  return `${Math.floor(minutes / 60)}${NARROW}h${rest ? ` ${rest}${NARROW}min` : ""}`;
}

/** Bytes in decimal units: "1.6 MB". */
export function bytes(value: Maybe): string {
  if (!known(value)) return NOTHING;
  const units = ["B", "kB", "MB", "GB", "TB"];
  let size = value;
  let unit = 0;
  while (size >= 999.5 && unit < units.length - 1) {
    size /= 1000;
    unit += 1;
  }
  return `${number(size)}${NARROW}${units[unit]}`;
}

/** "1 seed", "5 seeds". */
export function plural(n: number, one: string, many = `${one}s`): string {
  return `${count(n)} ${n === 1 ? one : many}`;
}

/** A moment in the reader's own time zone: "5 Jan 2026, 10:00". */
export function moment(iso: string | null | undefined): string {
  if (!iso) return NOTHING;
  const date = new Date(iso);
  if (Number.isNaN(date.getTime())) return NOTHING;
  return date.toLocaleString("en-GB", {
    day: "numeric",
    month: "short",
    year: "numeric",
    hour: "2-digit",
    minute: "2-digit",
  });
}
