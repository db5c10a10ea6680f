import { svelte } from "@sveltejs/vite-plugin-svelte";
import { defineConfig } from "vitest/config";

/** Where `npm run dev` finds a running service. */
const service = process.env.HEADRACE_URL ?? "http://127.0.0.1:8081";

// File names carry no hash: the service sends validators, and a rebuild changes only what changed. Nothing is inlined,
// because the service's Content-Security-Policy allows files of its own origin only.
export default defineConfig({
  base: "./",
  plugins: [svelte()],
  build: {
    outDir: process.env.HEADRACE_UI_OUT ?? "../src/headrace/service/ui",
    emptyOutDir: true,
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    target: "es2022",
    rollupOptions: {
      output: {
        entryFileNames: "assets/app.js",
        chunkFileNames: "assets/[name].js",
        assetFileNames: "assets/[name][extname]",
      },
    },
  },
  server: { proxy: { "^/(v1|overview|config|jobs|jars|taskmanagers|jobmanager|events|savepoint|sign-in)": service } },
  test: { include: ["src/**/*.test.ts"], environment: "node" },
});
