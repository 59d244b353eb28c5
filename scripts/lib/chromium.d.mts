export function findChromium(): Promise<string | null>;
export function requireChromium(): Promise<string | null>;
