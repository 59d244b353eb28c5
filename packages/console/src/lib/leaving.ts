const forgetters = new Set<() => void>();

/** Whatever holds something of a person says here how it is forgotten when they sign out. */
export function onLeaving(forget: () => void): void {
  forgetters.add(forget);
}

/** Somebody signed out: nothing that was read or typed stays. */
export function leave(): void {
  for (const forget of forgetters) forget();
}
