import type { Domain } from '../../engine/domain.ts';
import { disableAuthProxy } from './operations/disable-auth-proxy.ts';
import { enableAuthProxy } from './operations/enable-auth-proxy.ts';
import { getAuthProxyConfig } from './operations/get-auth-proxy-config.ts';
import { updateAuthProxyConfig } from './operations/update-auth-proxy-config.ts';

export const signUpProxy: Domain = {
  name: 'sign-up-proxy',
  operations: [disableAuthProxy, enableAuthProxy, getAuthProxyConfig, updateAuthProxyConfig],
};
