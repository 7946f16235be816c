import { Component, type ErrorInfo, type ReactNode } from "react";

interface State {
  error: Error | null;
}

/** A page that breaks says so and leaves the rest of the window working. */
export class ErrorBoundary extends Component<{ children: ReactNode }, State> {
  override state: State = { error: null };

  static getDerivedStateFromError(error: Error): State {
    return { error };
  }

  override componentDidCatch(error: Error, { componentStack }: ErrorInfo): void {
    console.error(error, componentStack);
  }

  override render(): ReactNode {
    const { error } = this.state;
    if (!error) return this.props.children;
    return (
      <div className="page narrow">
        <h1>This page crashed</h1>
        <p className="muted">
          Nothing stored is lost. For a bug report: <code>{error.message}</code>
        </p>
        <div className="card-actions">
          <button type="button" className="button primary" onClick={() => window.location.reload()}>
            Reload
          </button>
          <a className="button" href="/">
            To the atlas
          </a>
        </div>
      </div>
    );
  }
}
