import { createContext, type ReactNode, useContext, useEffect, useMemo, useState } from "react";
import type { Theme } from "../api/types";

export const CHOICES = ["system", "light", "dark"] as const;
export type ThemeChoice = (typeof CHOICES)[number];

const KEY = "headscope-theme";

interface ThemeState {
  choice: ThemeChoice;
  theme: Theme;
  choose: (choice: ThemeChoice) => void;
}

const Context = createContext<ThemeState>({ choice: "system", theme: "light", choose: () => {} });

function remembered(): ThemeChoice {
  try {
    return CHOICES.find((choice) => choice === localStorage.getItem(KEY)) ?? "system";
  } catch {
    return "system";
  }
}

function remember(choice: ThemeChoice): void {
  try {
    if (choice === "system") localStorage.removeItem(KEY);
    else localStorage.setItem(KEY, choice);
  } catch {
    // Storage may be forbidden: the choice then holds for this page.
  }
}

export function ThemeProvider({ children }: { children: ReactNode }) {
  const [choice, setChoice] = useState(remembered);
  const [system, setSystem] = useState<Theme>(() =>
    window.matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light",
  );
  useEffect(() => {
    const query = window.matchMedia("(prefers-color-scheme: dark)");
    const listen = () => setSystem(query.matches ? "dark" : "light");
    query.addEventListener("change", listen);
    return () => query.removeEventListener("change", listen);
  }, []);
  useEffect(() => {
    if (choice === "system") delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = choice;
  }, [choice]);
  const state = useMemo<ThemeState>(
    () => ({
      choice,
      theme: choice === "system" ? system : choice,
      choose: (next) => {
        remember(next);
        setChoice(next);
      },
    }),
    [choice, system],
  );
  return <Context.Provider value={state}>{children}</Context.Provider>;
}

export function useTheme(): ThemeState {
  return useContext(Context);
}
