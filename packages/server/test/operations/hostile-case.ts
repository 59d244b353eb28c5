import type { TestClient } from '../harness/client.ts';
import type { Tenant } from './tenant.ts';

/** A request that succeeds: who sends it and with which parameters, those of every version of the operation at once. */
export interface Case {
  readonly client: TestClient;
  readonly parameters: Record<string, unknown>;
}

/**
 * What a request uses up is made for it, so that it can be built and sent again and again. `type` is the version that is
 * asked for, where versions cannot share what they use up.
 */
export type Build = (tenant: Tenant, type: string | undefined) => Promise<Case>;

let made = 0;

/** A number that was not given before. */
export const another = (): number => {
  made += 1;
  return made;
};

/** Names differ, so that a request never fails for being the second of its kind. */
export const fresh = (tenant: Tenant): string => `${tenant.marker} ${another()}`;

export const byRoot =
  (
    parameters: (
      tenant: Tenant,
      type: string | undefined,
    ) => Record<string, unknown> | Promise<Record<string, unknown>>,
  ): Build =>
  async (tenant, type) => ({ client: tenant.root, parameters: await parameters(tenant, type) });
