import { parseRoute, type Route } from "../logic/route";

class Router {
  route = $state.raw<Route>(parseRoute(location.hash));

  constructor() {
    addEventListener("hashchange", () => {
      this.route = parseRoute(location.hash);
    });
  }

  go(link: string): void {
    location.hash = link.replace(/^#/, "");
  }
}

export const router = new Router();
