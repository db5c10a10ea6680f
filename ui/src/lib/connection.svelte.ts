/** Does the service answer? */

class Connection {
  up = $state(true);
  lastHeard = $state(0);

  heard(): void {
    this.up = true;
    this.lastHeard = Date.now();
  }

  lost(): void {
    this.up = false;
  }
}

export const connection = new Connection();
