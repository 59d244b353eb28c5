export function findAnvil(): readonly [program: string, ...args: string[]];
export function installAnvil(): void;
