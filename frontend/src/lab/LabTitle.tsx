import { useLab } from "./state/useLab";

/** The page's title; the model in it is the picker. */
export function LabTitle() {
  const { view, model, models, move, readOnly } = useLab();
  const name = view.model ?? "";
  const known = models.some((one) => one.name === name);
  const pick = (next: string) =>
    move({
      model: next,
      example: null,
      head: null,
      locked: [],
      at: null,
      answers: [],
      mute: null,
      gates: null,
    });
  const list = (ready: boolean) =>
    models
      .filter((one) => one.ready === ready)
      .map((one) => (
        <option key={one.name} value={one.name}>
          {one.title}
        </option>
      ));
  return (
    <>
      <h1 className="pickers">
        Prompt lab{" · "}
        {readOnly ? (
          (model?.title ?? name)
        ) : (
          <span className="picker">
            <select aria-label="Model" value={name} onChange={(event) => pick(event.target.value)}>
              {!known && <option value={name}>{name}</option>}
              <optgroup label="Here">{list(true)}</optgroup>
              {models.some((one) => !one.ready) && <optgroup label="Not here yet">{list(false)}</optgroup>}
            </select>
          </span>
        )}
      </h1>
      {model?.note && <p className="facts">{model.note}</p>}
    </>
  );
}
