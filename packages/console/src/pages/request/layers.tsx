import type { Activity } from '@custos/sdk';
import { useState } from 'react';
import type { CheckedVotes } from '../../api/approvals.ts';
import type { Description } from '../../api/types.ts';
import { Code } from '../../kit/code.tsx';
import { Fact, Facts } from '../../kit/facts.tsx';
import { Hash } from '../../kit/hash.tsx';
import { Hatch } from '../../kit/hatch.tsx';
import { Icon } from '../../kit/icon.tsx';
import { LinkButton } from '../../kit/link-button.tsx';
import { SameWith } from '../../kit/same-with.tsx';
import { shortHash } from '../../lib/addresses.ts';
import { formatBytes } from '../../lib/amounts.ts';
import { DescribedFields } from './described-fields.tsx';
import styles from './request.module.css';

export type Layer = 'fields' | 'bytes' | 'body' | 'result' | 'same';

export const LAYERS: readonly { readonly id: Layer; readonly label: string }[] = [
  { id: 'fields', label: 'Fields' },
  { id: 'bytes', label: 'Bytes' },
  { id: 'body', label: 'Raw body' },
  { id: 'same', label: 'As SDK, CLI, curl' },
];

export interface LayerProps {
  readonly activity: Activity;
  readonly description: Description;
  readonly checks: CheckedVotes | undefined;
}

/** What is decided about, without anything between it and the eye. */
export function LayerContent({ layer, activity, description, checks }: LayerProps & { readonly layer: Layer }) {
  switch (layer) {
    case 'fields':
      return description.fields.length === 0 ? (
        <p className={styles.grey}>The service reads no fields out of this request. See the raw body.</p>
      ) : (
        <DescribedFields fields={description.fields} oneLine />
      );
    case 'bytes':
      return <Bytes activity={activity} description={description} />;
    case 'body':
      return <RawBody checks={checks} />;
    case 'result':
      return (
        <Code
          text={JSON.stringify(activity.result, undefined, 2)}
          language="json"
          copy="Copy the result"
          maxHeight={420}
        />
      );
    case 'same':
      return <SameAct activity={activity} />;
  }
}

function Bytes({ activity, description }: Pick<LayerProps, 'activity' | 'description'>) {
  const { bytes, risk } = description;
  if (bytes === undefined) {
    return (
      <Facts>
        <Fact label="You sign" note="An approval covers this digest of the exact request, and so every byte of it.">
          <Hash value={activity.fingerprint} what="fingerprint" whole />
        </Fact>
      </Facts>
    );
  }
  const length = Math.floor(bytes.unsigned.replace(/^0x/, '').length / 2);
  return (
    <>
      <Facts>
        <Fact label={bytes.algorithm}>
          <Hash value={bytes.digest} what="digest" whole />
        </Fact>
        <Fact label="You sign" note="An approval covers this digest of the exact request, and so every byte of it.">
          <Hash value={activity.fingerprint} what="fingerprint" whole />
        </Fact>
      </Facts>
      {risk === 'UNREADABLE' ? (
        <Hatch title={`${formatBytes(length)} that nobody here can read`} bytes={bytes.unsigned} />
      ) : (
        <Code text={bytes.unsigned} copy="Copy the bytes" maxHeight={320} />
      )}
    </>
  );
}

function RawBody({ checks }: { readonly checks: CheckedVotes | undefined }) {
  const [first] = checks ?? [];
  if (first === undefined) return <p className={styles.grey}>The request of the first vote is not there.</p>;
  return (
    <>
      {first.check === 'not-checkable' && (
        <p className={styles.grey}>A secret is left out, so its signature cannot be checked against this text.</p>
      )}
      <Code text={first.vote.message} language="json" copy="Copy the body" maxHeight={420} />
    </>
  );
}

/** Deciding, as a program does it. */
function SameAct({ activity }: { readonly activity: Activity }) {
  return (
    <div className={styles.stack}>
      <p className={styles.meta}>Approve</p>
      <SameWith method="approveActivity" parameters={{ fingerprint: activity.fingerprint }} />
      <p className={styles.meta}>Read</p>
      <SameWith method="getActivity" parameters={{ activityId: activity.id }} />
    </div>
  );
}

export interface LayersBarProps extends LayerProps {
  readonly open: Layer | undefined;
  readonly onOpen: (layer: Layer | undefined) => void;
}

/** One row with the digest, and each layer one click away. */
export function LayersBar({ open, onOpen, ...content }: LayersBarProps) {
  const { bytes } = content.description;
  const [panelId] = useState(() => `layer-${content.activity.id}`);
  return (
    <section className={styles.layers} aria-label="Exact request">
      <div className={styles.layersBar}>
        <Icon name="code" />
        <b>{bytes === undefined ? 'Exact request to be approved' : 'Exact bytes to be signed'}</b>
        <span className={styles.digest} title={bytes?.digest ?? content.activity.fingerprint}>
          {bytes === undefined
            ? `sha-256 ${shortHash(content.activity.fingerprint.replace(/^sha256:/, ''))}`
            : `${bytes.algorithm} ${shortHash(bytes.digest)}`}
        </span>
        <span className={styles.layersLinks}>
          {LAYERS.map(({ id, label }) => (
            <LinkButton
              key={id}
              aria-expanded={open === id}
              aria-controls={panelId}
              onClick={() => onOpen(open === id ? undefined : id)}
            >
              {label}
            </LinkButton>
          ))}
        </span>
      </div>
      <div id={panelId} className={styles.layerPanel} hidden={open === undefined}>
        {open !== undefined && <LayerContent layer={open} {...content} />}
      </div>
    </section>
  );
}
