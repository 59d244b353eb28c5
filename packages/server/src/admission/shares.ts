/** One who waits at a gate. */
export interface Waiter {
  readonly share: Share;
  readonly sinceMs: number;
  start(): void;
  refuse(error: Error): void;
}

/** Those who share a gate: the root is everybody, below it are the classes of each level. A leaf has a line. */
export class Share {
  readonly key: string;
  readonly parent: Share | undefined;
  running = 0;
  waiting = 0;
  /** Children with anything running or waiting. */
  readonly children = new Map<string, Share>();
  /** Children with somebody waiting, in the order of their turns. */
  readonly turns = new Set<Share>();
  readonly line = new Set<Waiter>();

  constructor(key = '', parent?: Share) {
    this.key = key;
    this.parent = parent;
  }

  /** The leaf at the end of a path, made where it is missing. */
  at(path: readonly string[]): Share {
    let share: Share = this;
    for (const key of path) {
      let child = share.children.get(key);
      if (child === undefined) {
        child = new Share(key, share);
        share.children.set(key, child);
      }
      share = child;
    }
    return share;
  }

  /** Counts one that starts, or one that ended, here and in everything above. */
  run(change: 1 | -1): void {
    for (let share: Share | undefined = this; share !== undefined; share = share.parent) share.running += change;
    if (change < 0) this.forget();
  }

  join(waiter: Waiter): void {
    this.line.add(waiter);
    for (let share: Share = this; ; share = share.parent) {
      share.waiting += 1;
      if (share.parent === undefined) return;
      share.parent.turns.add(share);
    }
  }

  leave(waiter: Waiter): boolean {
    if (!this.line.delete(waiter)) return false;
    for (let share: Share = this; ; share = share.parent) {
      share.waiting -= 1;
      if (share.parent === undefined) break;
      if (share.waiting === 0) share.parent.turns.delete(share);
    }
    this.forget();
    return true;
  }

  /** Whose turn it is, class by class; the classes on the way go to the end of their turns. */
  next(): Waiter | undefined {
    let share: Share = this;
    for (;;) {
      const [child] = share.turns;
      if (child === undefined) break;
      share.turns.delete(child);
      share.turns.add(child);
      share = child;
    }
    const [first] = share.line;
    return first;
  }

  /** How many are served before one who joins now, itself included, if the classes take turns. */
  position(): number {
    let position = this.waiting + 1;
    for (let share: Share = this; share.parent !== undefined; share = share.parent) {
      const { turns, waiting } = share.parent;
      position = Math.min(position * (turns.size + (share.waiting === 0 ? 1 : 0)), waiting + 1);
    }
    return position;
  }

  /** Whether others wait at some level, and less of the line is theirs than is this one's. */
  hasMoreThanOthers(): boolean {
    for (let share: Share = this; share.parent !== undefined; share = share.parent) {
      const { turns, waiting } = share.parent;
      if (turns.size > 1 && share.waiting * turns.size >= waiting) return true;
    }
    return false;
  }

  /** The leaf with the longest line, of the class with the longest line at each level. */
  longest(): Share {
    let share: Share = this;
    while (share.turns.size > 0) {
      share = [...share.turns].reduce((most, child) => (child.waiting > most.waiting ? child : most));
    }
    return share;
  }

  /** Goes where nobody runs or waits any more, and so do those above. */
  forget(): void {
    for (let share: Share = this; share.parent !== undefined; share = share.parent) {
      if (share.running > 0 || share.waiting > 0) return;
      // Another leaf may be there by now, for one that came while this had nobody.
      if (share.parent.children.get(share.key) === share) share.parent.children.delete(share.key);
    }
  }
}
