import { execFileSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { sameWith, toSource } from './same-with.ts';

const call = {
  operation: 'create_wallet',
  method: 'createWallet',
  kind: 'activity',
  type: 'ACTIVITY_TYPE_CREATE_WALLET',
  organizationId: 'o-1',
  parameters: { walletName: `Ada's "cold" \\ wallet`, accounts: [] },
} as const;

describe('sameWith', () => {
  it('writes source that means the same object', () => {
    const value = { a: `it's "x" \\ \n`, 'b-c': [1, true, null], d: { e: 'f'.repeat(70), g: [] } };
    expect(new Function(`return ${toSource(value)}`)()).toEqual(value);
  });

  it('quotes for a shell, whatever a name holds', () => {
    const { cli, curl } = sameWith(call, 'http://localhost:8080');
    const [, , , argument] = execFileSync('sh', ['-c', `for word in ${cli}; do printf '%s\\0' "$word"; done`])
      .toString()
      .split('\0');
    expect(JSON.parse(argument ?? '')).toEqual(call.parameters);
    const body: unknown = JSON.parse(
      execFileSync('sh', ['-c', `${curl.split('\n')[0]}; printf %s "$BODY"`]).toString(),
    );
    expect(body).toMatchObject({ type: call.type, organizationId: 'o-1', parameters: call.parameters });
    expect((body as { timestampMs: string }).timestampMs).toMatch(/^[0-9]{13}$/);
  });

  it('writes queries flat', () => {
    const { sdk, curl } = sameWith(
      { ...call, kind: 'query', operation: 'whoami', method: 'whoami', parameters: {} },
      'http://h',
    );
    expect(sdk).toBe('await client.whoami()');
    expect(curl).toContain(`BODY='{"organizationId":"o-1"}'`);
    expect(curl).toContain('http://h/public/v1/query/whoami');
  });
});
