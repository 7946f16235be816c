import { useRef } from "react";
import type { Resource } from "./resource";

/** The last answer of the same subject while another is on its way: a switch doesn't blank the page. */
export function useKept<T>(resource: Resource<T>, subject: string): Resource<T> {
  const last = useRef<{ subject: string; data: T } | null>(null);
  if (resource.data !== undefined) last.current = { subject, data: resource.data };
  const kept = last.current?.subject === subject ? last.current.data : undefined;
  const data = resource.data ?? (resource.error ? undefined : kept);
  return { ...resource, data, loading: resource.loading && data === undefined };
}
