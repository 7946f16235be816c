import { type FormEvent, useState } from "react";
import { api } from "../api/client";
import { reportSignedIn } from "../api/connection";
import { type ApiError, asApiError } from "../api/errors";
import { ProblemNote } from "../parts/ProblemNote";

export function SignInPage({ onDone }: { onDone: () => void }) {
  const [token, setToken] = useState("");
  const [error, setError] = useState<ApiError>();
  const [busy, setBusy] = useState(false);
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    setBusy(true);
    setError(undefined);
    try {
      await api.signIn(token.trim());
      reportSignedIn();
      onDone();
    } catch (thrown) {
      setError(asApiError(thrown));
    } finally {
      setBusy(false);
    }
  };
  return (
    <div className="page narrow">
      <h1>Sign in</h1>
      <p className="muted">
        This server is reachable from other machines, so it asks for the access token that its operator set as{" "}
        <code>HEADSCOPE_TOKEN</code>.
      </p>
      <form className="card form-card" onSubmit={submit}>
        <label className="field">
          Access token
          <input
            type="password"
            autoComplete="current-password"
            required
            value={token}
            onChange={(event) => setToken(event.target.value)}
          />
        </label>
        {error && <ProblemNote error={error} />}
        <div className="card-actions">
          <button type="submit" className="button primary" disabled={busy || token.trim() === ""}>
            Sign in
          </button>
        </div>
      </form>
    </div>
  );
}
