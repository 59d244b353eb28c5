import type { SecretId } from '../../lib/ids.ts';

export interface KeyValue {
  readonly key: string;
  readonly value: string;
}

export interface Secret {
  readonly id: SecretId;
  readonly name: string | undefined;
  readonly sealedSecret: Uint8Array;
  readonly staticProperties: readonly KeyValue[];
  readonly createdAtMs: number;
}
