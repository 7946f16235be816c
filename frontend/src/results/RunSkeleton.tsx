/** A run page before it is there, in the shape it will have. */
export function RunSkeleton() {
  return (
    <div role="status" aria-label="Loading">
      <div className="skeleton title" />
      <div className="skeleton text" />
      <div className="columns">
        <div className="main-column">
          <div className="skeleton controls-skeleton" />
          <div className="card">
            <div className="skeleton grid-skeleton" />
          </div>
        </div>
        <div className="side-column">
          <div className="card">
            <div className="skeleton head-skeleton" />
          </div>
        </div>
      </div>
    </div>
  );
}
