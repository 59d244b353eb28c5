import type { FastifyServerOptions } from 'fastify';

const noSchema = (): never => {
  throw new Error('routes have no schemas here: requests are checked by their shapes');
};

/**
 * Fastify loads two compilers for the schemas of routes before it listens. None of our routes has one, so it gets these
 * instead, which nobody calls (docs/decisions/0051).
 */
export const NO_SCHEMAS = {
  schemaController: { compilersFactory: { buildValidator: () => noSchema, buildSerializer: () => noSchema } },
} satisfies FastifyServerOptions;
