// Whether the server answers. Requests tell it, a slow heartbeat asks, and the shell shows a banner.
import { useSyncExternalStore } from "react";

type State = { online: boolean; signedOut: boolean; returns: number };

let state: State = { online: true, signedOut: false, returns: 0 };
const listeners = new Set<() => void>();

function set(change: Partial<State>): void {
  state = { ...state, ...change };
  for (const listener of listeners) listener();
}

export function reportAnswer(): void {
  if (!state.online) set({ online: true, returns: state.returns + 1 });
}

export function reportSilence(): void {
  if (state.online) set({ online: false });
}

export function reportSignedOut(): void {
  if (!state.signedOut) set({ signedOut: true });
}

export function reportSignedIn(): void {
  set({ signedOut: false, returns: state.returns + 1 });
}

export function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

export function connection(): State {
  return state;
}

/** `returns` counts how often the server came back: what depends on it loads again. */
export function useConnection(): State {
  return useSyncExternalStore(subscribe, connection);
}
