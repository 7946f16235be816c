import { lazy, Suspense, useEffect } from "react";
import { reportSignedIn, useConnection } from "./api/connection";
import { Queries } from "./api/query";
import { ErrorBoundary } from "./parts/ErrorBoundary";
import { NotFoundPage } from "./parts/NotFoundPage";
import { Shell } from "./parts/Shell";
import { SubjectProvider } from "./parts/subject";
import { ThemeProvider } from "./parts/theme";
import { usePaints } from "./plot/paint";
import { SignInPage } from "./sign-in/SignInPage";
import { go, usePlace } from "./url/navigation";
import type { Place } from "./url/view";

// A page's code and CSS come when it is opened.
const AtlasPage = lazy(() => import("./atlas/AtlasPage"));
const CircuitsPage = lazy(() => import("./circuits/CircuitsPage"));
const CircuitTestPage = lazy(() => import("./circuit-test/CircuitTestPage"));
const ComparePage = lazy(() => import("./compare/ComparePage"));
const LabPage = lazy(() => import("./lab/LabPage"));
const ModelPage = lazy(() => import("./models/ModelPage"));
const ModelsPage = lazy(() => import("./models/ModelsPage"));
const NewRunPage = lazy(() => import("./new-run/NewRunPage"));
const RunPage = lazy(() => import("./run/RunPage"));
const RunsPage = lazy(() => import("./run/RunsPage"));
const SharedPage = lazy(() => import("./shares/SharedPage"));
const TaskPage = lazy(() => import("./tasks/TaskPage"));
const TasksPage = lazy(() => import("./tasks/TasksPage"));
const ValidationPage = lazy(() => import("./validation/ValidationPage"));

const TITLES: Partial<Record<Place["page"], string>> = {
  lab: "Prompt lab",
  circuits: "Circuits",
  "circuit-test": "Test a circuit",
  compare: "Compare",
  new: "New run",
  runs: "Runs",
  tasks: "Tasks",
  models: "Models",
  validation: "Validation",
  "sign-in": "Sign in",
  "not-found": "Not found",
};

function Page({ place }: { place: Place }) {
  switch (place.page) {
    case "atlas":
      return <AtlasPage place={place} />;
    case "lab":
      return <LabPage place={place} />;
    case "circuits":
      return <CircuitsPage place={place} />;
    case "circuit-test":
      return <CircuitTestPage place={place} />;
    case "compare":
      return <ComparePage place={place} />;
    case "run":
      return <RunPage key={place.id} place={place} />;
    case "shared":
      return <SharedPage key={place.token} place={place} />;
    case "new":
      return <NewRunPage place={place} />;
    case "runs":
      return <RunsPage place={place} />;
    case "tasks":
      return <TasksPage />;
    case "task":
      return <TaskPage key={place.name} place={place} />;
    case "validation":
      return <ValidationPage />;
    case "models":
      return <ModelsPage />;
    case "model":
      return <ModelPage key={place.name} name={place.name} />;
    case "sign-in":
      return <SignInPage onDone={() => go(place.next, { replace: true })} />;
    case "not-found":
      return <NotFoundPage what={`There is no page at ${place.path}.`} />;
  }
}

function Pages() {
  // Asked for at once: the first picture needs it.
  usePaints();
  const place = usePlace();
  const { signedOut } = useConnection();
  useEffect(() => {
    const title = TITLES[place.page];
    document.title = title ? `${title} · Headscope` : "Headscope";
  }, [place.page]);
  if (signedOut && place.page !== "sign-in") return <SignInPage onDone={reportSignedIn} />;
  return (
    <ErrorBoundary key={place.page}>
      <Suspense
        fallback={<div className="skeleton page-skeleton" role="status" aria-label="Loading the page" />}
      >
        <Page place={place} />
      </Suspense>
    </ErrorBoundary>
  );
}

export function App() {
  return (
    <Queries>
      <ThemeProvider>
        <SubjectProvider>
          <Shell>
            <Pages />
          </Shell>
        </SubjectProvider>
      </ThemeProvider>
    </Queries>
  );
}
