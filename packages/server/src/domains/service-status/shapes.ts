import Type, { type Static } from 'typebox';

const Count = Type.Integer({ minimum: 0 });
/** RFC 3339. */
const Time = Type.String();
const WayShape = Type.Enum(['PROVIDER', 'INBOX', 'NONE']);

/** How the service does, as its operator is shown it: no secret, and of addresses the host alone. */
export const ServiceStatusShape = Type.Object({
  service: Type.Object({
    version: Type.String(),
    node: Type.String(),
    processId: Type.Integer(),
    startedAt: Time,
    baseUrl: Type.String(),
    database: Type.Enum(['sqlite', 'postgresql']),
    databaseVersion: Type.String(),
    connections: Type.Array(
      Type.Object({ pool: Type.String(), busy: Count, idle: Count, waiting: Count, timeouts: Count }),
    ),
    ready: Type.Boolean(),
    /** By check, why it failed. */
    reasons: Type.Record(Type.String(), Type.String()),
  }),
  /** Of this process since its start. */
  counters: Type.Object({ requests: Count, errors5xx: Count, signatures: Count }),
  /** Of this process since its start; a bucket counts what took at most so long. */
  latency: Type.Object({
    buckets: Type.Array(Type.Object({ leSeconds: Type.Number(), count: Count })),
    count: Count,
    sumSeconds: Type.Number(),
  }),
  queues: Type.Array(
    Type.Object({
      name: Type.Enum(['webhooks', 'sends', 'messages']),
      waiting: Count,
      /** There are more; nobody counted them. */
      isMore: Type.Optional(Type.Boolean()),
      oldestAt: Type.Optional(Time),
    }),
  ),
  keys: Type.Object({
    /** Where the root key is; a keyring on a socket does not say. */
    protection: Type.Enum(['file', 'passphrase-file', 'keyring']),
    keyring: Type.Enum(['process', 'inline', 'socket']),
    /** Whether the keyring runs as the user of the service or as one of its own. */
    keyringUser: Type.Enum(['same', 'own']),
    rootKeyId: Type.String(),
    isRotating: Type.Boolean(),
    /** How many root keys were retired by rotations. */
    retiredRootKeys: Count,
    /** How long the keyring took to answer; absent where it did not. */
    keyringMs: Type.Optional(Type.Number()),
  }),
  chains: Type.Array(
    Type.Object({
      caip2: Type.String(),
      /** The highest block, or slot, that a node told of. */
      head: Type.Optional(Count),
      /** How many blocks the watch of balances is behind it, where there is one. */
      behind: Type.Optional(Count),
      nodes: Type.Array(
        Type.Object({
          host: Type.String(),
          answers: Type.Boolean(),
          head: Type.Optional(Count),
          /** When it was asked. */
          at: Time,
        }),
      ),
    }),
  ),
  mail: Type.Object({
    email: WayShape,
    sms: WayShape,
    host: Type.Optional(Type.String()),
    lastSentAt: Type.Optional(Time),
    failed24h: Count,
  }),
  backup: Type.Object({ lastAt: Type.Optional(Time), text: Type.String() }),
  disk: Type.Optional(Type.Object({ usedBytes: Count, totalBytes: Count, freeBytes: Count })),
  /** Whether the database was restored from a backup and waits to be accepted: until then nothing is done. */
  fence: Type.Object({
    up: Type.Boolean(),
    /** False where some organizations are accepted. */
    isWhole: Type.Boolean(),
    restoredAt: Type.Optional(Time),
    doubt: Type.Optional(Type.Enum(['not-loaded', 'not-genuine', 'restored-meanwhile'])),
  }),
  now: Time,
});

export type ServiceStatus = Static<typeof ServiceStatusShape>;
