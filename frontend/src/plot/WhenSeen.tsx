import { type ReactNode, useEffect, useRef, useState } from "react";

/** So far beyond the edge of the window something counts as near. */
const NEAR = "600px 0px";

/** Its children once they come near the window: a page of many pictures asks for those that someone gets to. */
export function WhenSeen({ children }: { children: ReactNode }) {
  const box = useRef<HTMLDivElement>(null);
  const [seen, setSeen] = useState(typeof IntersectionObserver === "undefined");
  useEffect(() => {
    const element = box.current;
    if (seen || !element) return;
    const observer = new IntersectionObserver(
      (entries) => entries.some(({ isIntersecting }) => isIntersecting) && setSeen(true),
      { rootMargin: NEAR },
    );
    observer.observe(element);
    return () => observer.disconnect();
  }, [seen]);
  if (seen) return <>{children}</>;
  return (
    <div ref={box} className="card picture">
      <div className="skeleton grid-skeleton" />
    </div>
  );
}
