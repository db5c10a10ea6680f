/** Requests to the service. All addresses are relative to the page, so a proxy may put it under any path. */

export class ApiError extends Error {
  constructor(
    readonly status: number,
    message: string,
  ) {
    super(message);
  }
}

/** A token that was typed in belongs to this tab. One that a link gave belongs to the browser, as long as the service runs. */
const TOKEN = "headrace.token";
const CODE = /^#\/sign-in\/([^/]+)$/;
const waiting: (() => void)[] = [];
let linkFailed = false;
let askForToken: (() => void) | null = null;

/** The app says what to do when the service wants a token: show the prompt. */
export function onTokenNeeded(ask: () => void): void {
  askForToken = ask;
}

export function giveToken(token: string): void {
  sessionStorage.setItem(TOKEN, token);
  for (const go of waiting.splice(0)) go();
}

export function hasToken(): boolean {
  return tokenNow() !== null;
}

/** Whether the page was opened by a link that no longer signs in. */
export function hasDeadLink(): boolean {
  return linkFailed;
}

function tokenNow(): string | null {
  return sessionStorage.getItem(TOKEN) ?? localStorage.getItem(TOKEN);
}

/** If the page was opened by a link that signs in: exchange its code, and take it out of the address and the history. */
export async function signIn(): Promise<void> {
  const code = CODE.exec(location.hash)?.[1];
  if (code === undefined) return;
  history.replaceState(null, "", "#/");
  const headers = { "Content-Type": "application/json" };
  const response = await fetch("sign-in", { method: "POST", body: JSON.stringify({ code }), headers }).catch(() => null);
  linkFailed = response?.ok !== true;
  if (response?.ok !== true) return;
  sessionStorage.removeItem(TOKEN);
  localStorage.setItem(TOKEN, ((await response.json()) as { token: string }).token);
}

/** As fetch, but with the token, and asking for one when the service answers 401. Never throws for an HTTP status. */
export async function request(path: string, init: RequestInit = {}): Promise<Response> {
  for (;;) {
    const headers = new Headers(init.headers);
    const token = tokenNow();
    if (token !== null) headers.set("Authorization", `Bearer ${token}`);
    const response = await fetch(path, { ...init, headers, cache: "no-store" });
    if (response.status !== 401) return response;
    // Another request may have asked meanwhile: then the new token is tried first.
    if (tokenNow() !== token) continue;
    if (token !== null && localStorage.getItem(TOKEN) === token) localStorage.removeItem(TOKEN);
    await new Promise<void>((resolve, reject) => {
      waiting.push(resolve);
      init.signal?.addEventListener("abort", () => reject(new DOMException("given up", "AbortError")));
      askForToken?.();
    });
  }
}

export async function getJson<T>(path: string, signal?: AbortSignal): Promise<T> {
  const headers = { Accept: "application/json" };
  return (await checked(await request(path, { signal: signal ?? null, headers }))).json() as Promise<T>;
}

export async function getText(path: string, signal?: AbortSignal): Promise<string> {
  return (await checked(await request(path, { signal: signal ?? null }))).text();
}

export async function send<T>(method: string, path: string, body?: unknown): Promise<T> {
  const init: RequestInit = { method };
  if (body instanceof FormData) init.body = body;
  else if (body !== undefined) {
    init.body = JSON.stringify(body);
    init.headers = { "Content-Type": "application/json" };
  }
  const text = await (await checked(await request(path, init))).text();
  return (text === "" ? {} : JSON.parse(text)) as T;
}

async function checked(response: Response): Promise<Response> {
  if (response.ok) return response;
  throw new ApiError(response.status, errorText(response, await response.text()));
}

/** Flink's errors are {"errors": [text, ...]}. */
function errorText(response: Response, body: string): string {
  try {
    const json = JSON.parse(body) as { errors?: unknown };
    if (Array.isArray(json.errors) && json.errors.length > 0) return json.errors.map(String).join("\n");
  } catch {
    // not JSON: the text itself is the best there is
  }
  return body.trim() || `${response.status} ${response.statusText}`;
}

export function isAbort(error: unknown): boolean {
  return error instanceof DOMException && error.name === "AbortError";
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
