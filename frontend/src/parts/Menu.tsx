import {
  createContext,
  type KeyboardEvent,
  type ReactNode,
  useContext,
  useEffect,
  useId,
  useRef,
  useState,
} from "react";

const Close = createContext<() => void>(() => {});

interface MenuProps {
  label: string;
  /** What it is called where the label is a sign and no word. */
  name?: string;
  title?: string;
  quiet?: boolean;
  children: ReactNode;
}

/** A button that opens a short list: arrows move, Escape closes and gives the focus back. */
export function Menu({ label, name, title, quiet = false, children }: MenuProps) {
  const [open, setOpen] = useState(false);
  const box = useRef<HTMLDivElement>(null);
  const button = useRef<HTMLButtonElement>(null);
  const id = useId();

  useEffect(() => {
    if (!open) return;
    items(box.current)[0]?.focus();
    const outside = (event: PointerEvent) => {
      if (!box.current?.contains(event.target as Node)) setOpen(false);
    };
    document.addEventListener("pointerdown", outside);
    return () => document.removeEventListener("pointerdown", outside);
  }, [open]);

  const close = () => {
    setOpen(false);
    button.current?.focus();
  };
  const key = (event: KeyboardEvent) => {
    const all = items(box.current);
    const at = all.indexOf(document.activeElement as HTMLElement);
    if (event.key === "ArrowDown") all[(at + 1) % all.length]?.focus();
    else if (event.key === "ArrowUp") all[(at - 1 + all.length) % all.length]?.focus();
    else if (event.key === "Home") all[0]?.focus();
    else if (event.key === "End") all.at(-1)?.focus();
    else if (event.key === "Escape") close();
    else if (event.key === "Tab") setOpen(false);
    else return;
    if (event.key !== "Tab") event.preventDefault();
  };

  return (
    <div className="menu" ref={box}>
      <button
        ref={button}
        type="button"
        className={quiet ? "button quiet" : "button"}
        title={title}
        aria-label={name}
        aria-haspopup="menu"
        aria-expanded={open}
        aria-controls={open ? id : undefined}
        onClick={() => setOpen(!open)}
      >
        {label}
      </button>
      {open && (
        <Close.Provider value={close}>
          <div
            className="menu-list"
            id={id}
            role="menu"
            tabIndex={-1}
            aria-label={title ?? label}
            onKeyDown={key}
          >
            {children}
          </div>
        </Close.Provider>
      )}
    </div>
  );
}

function items(box: HTMLElement | null): HTMLElement[] {
  return [...(box?.querySelectorAll<HTMLElement>("[role^=menuitem]:not([aria-disabled=true])") ?? [])];
}

type MenuItemProps = { children: ReactNode; checked?: boolean; disabled?: boolean } & (
  | { href: string; onSelect?: never }
  | { href?: never; onSelect: () => unknown }
);

export function MenuItem({ children, href, onSelect, checked, disabled = false }: MenuItemProps) {
  const close = useContext(Close);
  if (href !== undefined) {
    return (
      <a className="menu-item" role="menuitem" tabIndex={-1} href={href} download onClick={close}>
        {children}
      </a>
    );
  }
  const shared = {
    type: "button" as const,
    className: "menu-item",
    tabIndex: -1,
    disabled,
    "aria-disabled": disabled,
    onClick: () => {
      close();
      void onSelect();
    },
    children,
  };
  return checked === undefined ? (
    <button role="menuitem" {...shared} />
  ) : (
    <button role="menuitemradio" aria-checked={checked} {...shared} />
  );
}
