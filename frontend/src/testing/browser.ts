// What jsdom lacks of a browser: sizes, dialogs, dark mode, a canvas. All is put in place by importing this file.
import { afterEach, beforeEach, vi } from "vitest";

/** The size that every element has. */
const SIZE = { width: 640, height: 400 };
let width = SIZE.width;
const observed = new Map<object, { element: Element; heard: ResizeObserverCallback }>();

/** Every element is so wide from now on. Inside `act`. */
export function resizeTo(next: number): void {
  width = next;
  for (const { element, heard } of observed.values()) heard([entryOf(element)], {} as ResizeObserver);
}

function entryOf(target: Element): ResizeObserverEntry {
  return { target, contentRect: { width, height: SIZE.height } } as unknown as ResizeObserverEntry;
}

class Observer {
  constructor(private readonly heard: ResizeObserverCallback) {}
  observe(element: Element) {
    observed.set(this, { element, heard: this.heard });
    this.heard([entryOf(element)], {} as ResizeObserver);
  }
  disconnect() {
    observed.delete(this);
  }
}

let dark = false;
const darkListeners = new Set<() => void>();

/** The system goes dark, or light again. Inside `act`. */
export function systemDark(on: boolean): void {
  dark = on;
  for (const listener of darkListeners) listener();
}

function matchMedia() {
  return {
    get matches() {
      return dark;
    },
    addEventListener: (_: string, listener: () => void) => darkListeners.add(listener),
    removeEventListener: (_: string, listener: () => void) => darkListeners.delete(listener),
  };
}

/** One call of a canvas' context, and the colours it was made with. */
export interface Stroke {
  call: string;
  args: unknown[];
  fill: unknown;
  stroke: unknown;
  alpha: unknown;
}

const drawn = new WeakMap<HTMLCanvasElement, Stroke[]>();

function contextOf(canvas: HTMLCanvasElement): CanvasRenderingContext2D {
  const strokes: Stroke[] = [];
  drawn.set(canvas, strokes);
  const state: Record<string, unknown> = { canvas, globalAlpha: 1 };
  return new Proxy(state, {
    get: (_, name: string) =>
      name in state
        ? state[name]
        : (...args: unknown[]) => {
            const { fillStyle: fill, strokeStyle: stroke, globalAlpha: alpha } = state;
            if (name === "restore") state.globalAlpha = 1;
            if (name === "clearRect") strokes.length = 0;
            strokes.push({ call: name, args, fill, stroke, alpha });
            return name === "measureText" ? { width: 6 * String(args[0]).length } : undefined;
          },
    set: (_, name: string, value) => {
      state[name] = value;
      return true;
    },
  }) as unknown as CanvasRenderingContext2D;
}

const contexts = new WeakMap<HTMLCanvasElement, CanvasRenderingContext2D>();

/** What was drawn on a canvas since it was last cleared: all, or the calls of one name. */
export function strokesOf(canvas: HTMLCanvasElement, call?: string): Stroke[] {
  return (drawn.get(canvas) ?? []).filter((stroke) => call === undefined || stroke.call === call);
}

/** The words on a canvas. */
export function textsOf(canvas: HTMLCanvasElement): string[] {
  return strokesOf(canvas, "fillText").map(({ args }) => String(args[0]));
}

/** Files that a page gave its reader. */
export const saved: { name: string; blob: Blob }[] = [];
const made = new Map<string, Blob>();

/** What was put into the clipboard; set `forbidden` to have the browser refuse. */
export const clipboard = { text: "", forbidden: false };

function lacks(prototype: object, members: PropertyDescriptorMap): void {
  Object.defineProperties(
    prototype,
    Object.fromEntries(
      Object.entries(members).map(([name, member]) => [name, { configurable: true, ...member }]),
    ),
  );
}

lacks(HTMLElement.prototype, {
  clientWidth: { get: () => width },
  clientHeight: { get: () => SIZE.height },
  scrollIntoView: { value: () => {} },
  setPointerCapture: { value: () => {} },
});
lacks(HTMLDialogElement.prototype, {
  showModal: {
    value(this: HTMLDialogElement) {
      this.open = true;
    },
  },
  close: {
    value(this: HTMLDialogElement) {
      this.open = false;
    },
  },
});
lacks(HTMLCanvasElement.prototype, {
  getContext: {
    value(this: HTMLCanvasElement) {
      const context = contexts.get(this) ?? contextOf(this);
      contexts.set(this, context);
      return context;
    },
  },
  toBlob: {
    value: (heard: BlobCallback, type: string) => heard(new Blob(["picture"], { type })),
  },
});
lacks(HTMLAnchorElement.prototype, {
  click: {
    value(this: HTMLAnchorElement) {
      const blob = made.get(this.getAttribute("href") ?? "");
      if (blob) saved.push({ name: this.download, blob });
      else this.dispatchEvent(new MouseEvent("click", { bubbles: true, cancelable: true }));
    },
  },
});
lacks(document, { elementFromPoint: { value: () => null, writable: true } });
lacks(navigator, {
  clipboard: {
    value: {
      writeText: async (text: string) => {
        if (clipboard.forbidden) throw new DOMException("no", "NotAllowedError");
        clipboard.text = text;
      },
    },
  },
});

beforeEach(() => {
  vi.stubGlobal("ResizeObserver", Observer);
  vi.stubGlobal("matchMedia", matchMedia);
  vi.stubGlobal("scrollTo", () => {});
  vi.stubGlobal(
    "ImageData",
    class {
      constructor(
        readonly data: Uint8ClampedArray,
        readonly width: number,
        readonly height: number,
      ) {}
    },
  );
  vi.spyOn(URL, "createObjectURL").mockImplementation((blob) => {
    const url = `blob:test/${made.size}`;
    made.set(url, blob as Blob);
    return url;
  });
});

afterEach(() => {
  vi.restoreAllMocks();
  width = SIZE.width;
  dark = false;
  saved.length = 0;
  clipboard.text = "";
  clipboard.forbidden = false;
  localStorage.clear();
});
