/** The lab's shape while it loads. */
export function LabSkeleton() {
  return (
    <div role="status" aria-label="Loading the prompt lab">
      <div className="skeleton title" />
      <div className="skeleton text" />
      <div className="columns lab-columns">
        <div className="main-column">
          <TokensSkeleton />
          <HeadsSkeleton />
        </div>
        <div className="side-column">
          <div className="skeleton head-skeleton" />
          <div className="skeleton head-skeleton" />
        </div>
      </div>
    </div>
  );
}

export function TokensSkeleton() {
  return <div className="skeleton tokens-skeleton" role="status" aria-label="Loading the tokens" />;
}

export function HeadsSkeleton() {
  return <div className="skeleton grid-skeleton" role="status" aria-label="Loading all heads" />;
}
