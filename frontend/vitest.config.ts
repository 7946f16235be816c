import { defineConfig } from "vitest/config";

// A whole page in jsdom takes its time on a machine that does something else as well.
export default defineConfig({ test: { include: ["src/**/*.test.{ts,tsx}"], testTimeout: 20_000 } });
