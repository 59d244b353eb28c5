/** Lets so many in at a time; the others wait for their turn. */
export interface Gate {
  /** Answers with what is to be called when leaving. */
  enter(): Promise<() => void>;
}

export function createGate(places: number): Gate {
  let free = places;
  const waiting: (() => void)[] = [];
  const leave = (): void => {
    const next = waiting.shift();
    if (next === undefined) free += 1;
    else next();
  };
  const pass = (): (() => void) => {
    let isInside = true;
    return () => {
      if (isInside) leave();
      isInside = false;
    };
  };
  return {
    async enter() {
      if (free > 0) free -= 1;
      else await new Promise<void>((resolve) => waiting.push(resolve));
      return pass();
    },
  };
}
