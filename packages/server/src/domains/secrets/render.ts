import type { Secret } from './model.ts';

export function renderSecret(secret: Secret) {
  return {
    secretId: secret.id,
    ...(secret.name !== undefined && { name: secret.name }),
    staticProperties: secret.staticProperties.map(({ key, value }) => ({ key, value })),
    createdAtUnixMs: String(secret.createdAtMs),
  };
}
