const FACTOR = Number(process.env['TEST_EFFORT'] ?? 1);

/** How often something random is tried: so often, or as many times more as `npm run test:long` asks for. */
export const times = (count: number): number => count * FACTOR;
