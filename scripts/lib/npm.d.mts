export function runNpm(args: readonly string[], cwd: string): void;
