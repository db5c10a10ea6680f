/** Data of the service that stays fresh: asked for again and again while the page is seen, or pushed by the service. */

import { ApiError, getJson, isAbort, messageOf, request } from "../api/client";
import { EventParser } from "../api/sse";
import { connection } from "./connection.svelte";

export class Resource<T> {
  data = $state.raw<T | null>(null);
  error = $state.raw<string | null>(null);
  status = $state.raw<number | null>(null);

  took(data: T): void {
    this.data = data;
    this.error = null;
    this.status = 200;
  }

  failed(error: unknown): void {
    this.error = messageOf(error);
    this.status = error instanceof ApiError ? error.status : null;
  }

  clear(): void {
    this.data = null;
    this.error = null;
    this.status = null;
  }
}

/** Resolves after a time, and not before the page is seen. */
async function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
  await new Promise<void>((resolve) => {
    const timer = setTimeout(resolve, milliseconds);
    signal.addEventListener("abort", () => (clearTimeout(timer), resolve()), { once: true });
  });
  if (!document.hidden || signal.aborted) return;
  await new Promise<void>((resolve) => {
    const look = (): void => {
      if (document.hidden && !signal.aborted) return;
      document.removeEventListener("visibilitychange", look);
      resolve();
    };
    document.addEventListener("visibilitychange", look);
    signal.addEventListener("abort", look, { once: true });
  });
}

async function poll<T>(resource: Resource<T>, path: string, every: number, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    try {
      const data = await getJson<T>(path, signal);
      if (!signal.aborted) resource.took(data);
      connection.heard();
    } catch (error) {
      if (isAbort(error) || signal.aborted) return;
      resource.failed(error);
      if (!(error instanceof ApiError)) connection.lost();
    }
    if (every <= 0) return;
    await pause(every, signal);
  }
}

/** For use while a component is set up. `path` may be null: then nothing is asked for. `every` of 0 asks once. */
export function polled<T>(path: () => string | null, every: number | (() => number) = 2000): Resource<T> {
  const resource = new Resource<T>();
  $effect(() => {
    const now = path();
    const interval = typeof every === "function" ? every() : every;
    if (now === null) {
      resource.clear();
      return;
    }
    const stop = new AbortController();
    void poll(resource, now, interval, stop.signal);
    return () => {
      stop.abort();
      resource.clear();
    };
  });
  return resource;
}

/** Longer than the service is ever silent: a stream that says nothing for so long is held up by something on the way. */
const SILENT_MS = 6000;
const ASKS_BETWEEN_STREAMS = 15;

/** Like `polled`, but pushed, as events of this name. While no stream can be had, the same address is asked instead. */
export function live<T>(path: () => string, event: string, every = 2000): Resource<T> {
  const resource = new Resource<T>();
  $effect(() => {
    const stop = new AbortController();
    void follow(resource, path(), event, every, stop.signal);
    return () => {
      stop.abort();
      resource.clear();
    };
  });
  return resource;
}

async function follow<T>(resource: Resource<T>, path: string, event: string, every: number, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    const worked = await stream(resource, path, event, signal);
    for (let asks = worked ? 1 : ASKS_BETWEEN_STREAMS; asks > 0 && !signal.aborted; asks -= 1) {
      if (!document.hidden) await poll(resource, path, 0, signal);
      await pause(every, signal);
    }
  }
}

/**
 * Reads events until the stream ends or falls silent; gives whether there were any. A page that is not seen gives its
 * connection back: browsers have few of them.
 */
async function stream<T>(resource: Resource<T>, path: string, event: string, signal: AbortSignal): Promise<boolean> {
  const stop = new AbortController();
  const leave = (): void => {
    if (document.hidden || signal.aborted) stop.abort();
  };
  document.addEventListener("visibilitychange", leave);
  signal.addEventListener("abort", leave);
  let silence = setTimeout(() => stop.abort(), SILENT_MS);
  let heard = false;
  try {
    for await (const data of eventsOf(path, event, stop.signal)) {
      clearTimeout(silence);
      silence = setTimeout(() => stop.abort(), SILENT_MS);
      heard = true;
      resource.took(JSON.parse(data) as T);
      connection.heard();
    }
  } catch (error) {
    if (!isAbort(error) && !(error instanceof ApiError)) connection.lost();
  } finally {
    clearTimeout(silence);
    document.removeEventListener("visibilitychange", leave);
    signal.removeEventListener("abort", leave);
  }
  return heard;
}

async function* eventsOf(path: string, event: string, signal: AbortSignal): AsyncGenerator<string> {
  const response = await request(path, { signal, headers: { Accept: "text/event-stream" } });
  if (!response.ok || response.body === null) throw new ApiError(response.status, response.statusText);
  const parser = new EventParser();
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done || signal.aborted) return;
    for (const one of parser.push(value)) if (one.event === event) yield one.data;
  }
}
