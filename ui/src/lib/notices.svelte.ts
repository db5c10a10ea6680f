/** Short messages about what was done, shown in a corner and read out. */

export interface Notice {
  id: number;
  mood: "good" | "bad";
  text: string;
  copy: string | null;
}

class Notices {
  all = $state.raw<Notice[]>([]);
  private next = 1;

  say(text: string, copy: string | null = null): void {
    this.add("good", text, copy);
  }

  warn(text: string): void {
    this.add("bad", text, null);
  }

  close(id: number): void {
    this.all = this.all.filter((notice) => notice.id !== id);
  }

  private add(mood: Notice["mood"], text: string, copy: string | null): void {
    const id = this.next;
    this.next += 1;
    this.all = [...this.all.slice(-3), { id, mood, text, copy }];
    // What can be copied, or went wrong, stays until it is closed.
    if (mood === "good" && copy === null) setTimeout(() => this.close(id), 6000);
  }
}

export const notices = new Notices();
