import Type from 'typebox';
import type { OrganizationId } from '../../../lib/ids.ts';
import type { Visit } from '../visit.ts';

/** Empty for none, as some clients send it. */
export const OrganizationShape = Type.String({ maxLength: 64, 'x-lower': true, 'x-trim': true });

export const SessionShape = Type.Object({ session: Type.String() });

/** A session as long as the configuration says. */
export async function login(
  { run, config }: Visit,
  organizationId: OrganizationId,
  type: string,
  parameters: Readonly<Record<string, unknown>>,
): Promise<{ session: string }> {
  const seconds = config.settings.sessionExpirationSeconds;
  const { result } = await run<{ session: string }>({
    type,
    organizationId,
    parameters: { ...parameters, ...(seconds !== undefined && { expirationSeconds: String(seconds) }) },
  });
  return { session: result.session };
}
