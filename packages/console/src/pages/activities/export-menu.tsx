import { useEffect, useRef, useState } from 'react';
import { useClient } from '../../api/client.ts';
import { type Problem, problemOf } from '../../api/problem.ts';
import { announce } from '../../app/announcer.tsx';
import { Button } from '../../kit/button.tsx';
import { Dialog } from '../../kit/dialog.tsx';
import { Note } from '../../kit/note.tsx';
import { ProblemNote } from '../../kit/problem-note.tsx';
import { Segmented } from '../../kit/segmented.tsx';
import { withThousands } from '../../lib/amounts.ts';
import { download } from '../../lib/csv.ts';
import styles from './activities.module.css';
import { asCsv, asJson, collect, EXPORT_MAX } from './export.ts';
import type { ActivitySearch } from './filters.ts';

/** The button "Export", and what it asks. */
export function ExportButton({ search }: { readonly search: ActivitySearch }) {
  const [isOpen, setIsOpen] = useState(false);
  return (
    <>
      <Button icon="file" onClick={() => setIsOpen(true)}>
        Export
      </Button>
      {isOpen && <ExportDialog search={search} onClose={() => setIsOpen(false)} />}
    </>
  );
}

type Format = 'csv' | 'json';

function ExportDialog({ search, onClose }: { readonly search: ActivitySearch; readonly onClose: () => void }) {
  const client = useClient();
  const [format, setFormat] = useState<Format>('csv');
  const [read, setRead] = useState<number>();
  const [done, setDone] = useState<{ readonly count: number; readonly isCut: boolean }>();
  const [problem, setProblem] = useState<Problem>();
  const controller = useRef<AbortController>(undefined);
  useEffect(() => () => controller.current?.abort(), []);

  async function run(): Promise<void> {
    controller.current = new AbortController();
    const { signal } = controller.current;
    setProblem(undefined);
    setDone(undefined);
    setRead(0);
    try {
      const { items, isCut } = await collect({ client, search, onProgress: setRead, signal });
      const name = `activities-${new Date().toISOString().slice(0, 10)}.${format}`;
      if (format === 'csv') download(name, asCsv(items), 'text/csv;charset=utf-8');
      else download(name, asJson(items), 'application/json');
      setDone({ count: items.length, isCut });
      announce('The file was downloaded.');
    } catch (error) {
      if (!signal.aborted) setProblem(problemOf(error));
    } finally {
      setRead(undefined);
    }
  }
  return (
    <Dialog
      open
      onClose={onClose}
      title="Export activities"
      description={`Everything that the filters find, newest first, at most ${withThousands(String(EXPORT_MAX))}. Times are UTC. In CSV, cells that a spreadsheet would run as a formula begin with an apostrophe.`}
      footer={
        <>
          <Button onClick={onClose}>{done === undefined ? 'Cancel' : 'Close'}</Button>
          <Button
            kind="ink"
            icon="download"
            busy={read !== undefined && `${withThousands(String(read))} read…`}
            onClick={() => void run()}
          >
            Download
          </Button>
        </>
      }
    >
      <div className={styles.stack}>
        <Segmented
          label="Format"
          items={[
            { id: 'csv', label: 'CSV' },
            { id: 'json', label: 'JSON' },
          ]}
          value={format}
          onChange={setFormat}
        />
        {problem !== undefined && <ProblemNote problem={problem} onRetry={() => void run()} />}
        {done !== undefined && (
          <Note
            tone={done.isCut ? 'wait' : 'allow'}
            role="status"
            title={`${withThousands(String(done.count))} activities were downloaded.`}
          >
            {done.isCut && 'There are more: limit the time, or read all of them with list_activities.'}
          </Note>
        )}
      </div>
    </Dialog>
  );
}
