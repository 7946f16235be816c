import react from "@vitejs/plugin-react";
import { defineConfig } from "vite";

// The client is served by the web process itself, so the build lands in the Python package.
// `npm run dev` proxies the API to a server started beside it; its Origin check wants its own address.
const server = process.env.HEADSCOPE_SERVER ?? "http://127.0.0.1:8000";

export default defineConfig({
  plugins: [react()],
  build: {
    outDir: "../backend/headscope/web/static",
    emptyOutDir: true,
    assetsInlineLimit: 0,
    chunkSizeWarningLimit: 1600,
  },
  server: { proxy: { "/api": { target: server, changeOrigin: true } } },
});
