import { type AnchorHTMLAttributes, type MouseEvent, useMemo, useSyncExternalStore } from "react";
import { formatPlace, type Place, parsePlace } from "./view";

const CHANGED = "headscope:navigated";

function subscribe(listener: () => void): () => void {
  window.addEventListener("popstate", listener);
  window.addEventListener(CHANGED, listener);
  return () => {
    window.removeEventListener("popstate", listener);
    window.removeEventListener(CHANGED, listener);
  };
}

function here(): string {
  return window.location.pathname + window.location.search;
}

/** Go to a place. `replace` overwrites the current entry: for what a slider passes through. */
export function go(to: Place | string, { replace = false }: { replace?: boolean } = {}): void {
  const address = typeof to === "string" ? to : formatPlace(to);
  if (address === here()) return;
  const samePage = new URL(address, window.location.origin).pathname === window.location.pathname;
  if (replace) window.history.replaceState(null, "", address);
  else window.history.pushState(null, "", address);
  window.dispatchEvent(new Event(CHANGED));
  if (!samePage) window.scrollTo(0, 0);
}

export function usePlace(): Place {
  const address = useSyncExternalStore(subscribe, here);
  return useMemo(() => parsePlace(address), [address]);
}

function plain(event: MouseEvent): boolean {
  return event.button === 0 && !event.metaKey && !event.ctrlKey && !event.shiftKey && !event.altKey;
}

/** A real link (middle click, copy address) that stays in the page when clicked plainly. */
export function Link({
  to,
  onClick,
  ...rest
}: { to: Place | string } & Omit<AnchorHTMLAttributes<HTMLAnchorElement>, "href">) {
  const href = typeof to === "string" ? to : formatPlace(to);
  return (
    <a
      href={href}
      onClick={(event) => {
        onClick?.(event);
        if (event.defaultPrevented || !plain(event)) return;
        event.preventDefault();
        go(href);
      }}
      {...rest}
    />
  );
}
