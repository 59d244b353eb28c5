import { OPERATIONS } from '@custos/sdk';
import { useState } from 'react';
import { sameWith } from '../lib/same-with.ts';
import { useOrganization } from '../session/organization.ts';
import { Code } from './code.tsx';
import { Dialog } from './dialog.tsx';
import { LinkButton } from './link-button.tsx';
import { Segmented } from './segmented.tsx';

export interface SameWithProps {
  /** The method of the SDK, such as `createWallet`. */
  readonly method: string;
  readonly parameters: object;
}

type Way = 'sdk' | 'cli' | 'curl';

/** The same with the SDK, `custos api` and curl: exact texts, to be copied. */
export function SameWith({ method, parameters }: SameWithProps) {
  const [way, setWay] = useState<Way>('sdk');
  const { organizationId } = useOrganization();
  const operation = (OPERATIONS as Record<string, (typeof OPERATIONS)[keyof typeof OPERATIONS] | undefined>)[method];
  const texts = sameWith(
    {
      method,
      operation: operation?.name ?? method.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
      kind: operation?.kind ?? 'query',
      type: operation && 'type' in operation ? operation.type : undefined,
      organizationId,
      parameters,
    },
    window.location.origin,
  );
  return (
    <div style={{ display: 'flex', flexDirection: 'column', gap: 8, alignItems: 'flex-start' }}>
      <Segmented
        label="The same with"
        items={[
          { id: 'sdk', label: 'SDK' },
          { id: 'cli', label: 'custos api' },
          { id: 'curl', label: 'curl' },
        ]}
        value={way}
        onChange={setWay}
      />
      <div style={{ width: '100%' }}>
        <Code text={texts[way]} language={way === 'sdk' ? 'sdk' : 'shell'} copy="Copy the call" />
      </div>
    </div>
  );
}

/** A link "As SDK, CLI, curl" that opens it. */
export function SameWithLink({ method, parameters }: SameWithProps) {
  const [isOpen, setIsOpen] = useState(false);
  return (
    <>
      <LinkButton onClick={() => setIsOpen(true)}>As SDK, CLI, curl</LinkButton>
      <SameWithDialog isOpen={isOpen} onClose={() => setIsOpen(false)} method={method} parameters={parameters} />
    </>
  );
}

export interface SameWithDialogProps extends SameWithProps {
  readonly isOpen: boolean;
  readonly onClose: () => void;
}

export function SameWithDialog({ isOpen, onClose, ...same }: SameWithDialogProps) {
  return (
    <Dialog
      open={isOpen}
      onClose={onClose}
      title="The same in a program"
      description="Exactly what this page sends. The SDK and the command line make the stamp; with curl you make it."
      width="wide"
    >
      <SameWith {...same} />
    </Dialog>
  );
}
