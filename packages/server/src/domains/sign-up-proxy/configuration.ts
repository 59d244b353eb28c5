import type { Organization } from '../../core/model.ts';
import { OrganizationReader } from '../../core/store/organizations.ts';
import type { App } from '../../engine/app.ts';
import { ApiError } from '../../lib/errors.ts';
import { isUuid } from '../../lib/ids.ts';
import type { SignUpProxyConfig } from './model.ts';
import { SignUpProxyReader } from './store.ts';

type Headers = Readonly<Record<string, string | string[] | undefined>>;

/** protocol/sign-up-proxy 1.1. */
export function configIdOf(headers: Headers): string {
  const value = headers['x-auth-proxy-config-id'];
  if (value === undefined || value === '') {
    throw new ApiError('AUTH_PROXY_CONFIG_MISSING', 'the header X-Auth-Proxy-Config-Id is required');
  }
  return String(value).trim().toLowerCase();
}

/** The configuration and the organization that it belongs to. What is off does not exist for a caller. */
export async function openConfiguration(
  { storage }: App,
  configId: string,
): Promise<{ readonly config: SignUpProxyConfig; readonly parent: Organization }> {
  const config = isUuid(configId) ? await storage.read(SignUpProxyReader).byId(configId) : undefined;
  const parent =
    config?.enabled === true ? await storage.read(OrganizationReader).find(config.organizationId) : undefined;
  if (config === undefined || parent === undefined || parent.deletedAtMs !== undefined) throw configurationNotFound();
  return { config, parent };
}

export const configurationNotFound = (): ApiError =>
  new ApiError(
    'AUTH_PROXY_CONFIG_NOT_FOUND',
    'there is no enabled sign-up proxy configuration with the id in X-Auth-Proxy-Config-Id',
  );

/**
 * The origin whose pages may read the answer, `*` for any. Without an origin, as in apps, only where any is allowed.
 */
export function requireOrigin(
  { allowedOrigins }: SignUpProxyConfig['settings'],
  origin: string | string[] | undefined,
): string {
  if (allowedOrigins.includes('*')) return '*';
  if (typeof origin === 'string' && allowedOrigins.includes(origin)) return origin;
  throw new ApiError(
    'ORIGIN_NOT_ALLOWED',
    'this sign-up proxy configuration does not allow requests from this origin (allowedOrigins)',
  );
}
