import { Link } from "../url/navigation";

interface NotFoundProps {
  what: string;
  remedy?: string;
}

export function NotFoundPage({
  what,
  remedy = "The address may be mistyped, or what it named was deleted.",
}: NotFoundProps) {
  return (
    <div className="page narrow">
      <h1>Not found</h1>
      <p>{what}</p>
      <p className="muted">{remedy}</p>
      <div className="card-actions">
        <Link className="button primary" to="/">
          To the atlas
        </Link>
        <Link className="button" to="/runs">
          All runs
        </Link>
      </div>
    </div>
  );
}
