import { Readable } from 'node:stream';

const blockBytes = 64 * 1024;

/**
 * Copies a body into 64 KiB blocks, regardless of the size of its chunks. Threat: an attacker sends a 4 MiB body in
 * one-byte chunks. If the chunks were stored as they arrive, their four million buffers would take more than a gigabyte
 * of memory.
 */
export function joinChunks(body: Readable): Readable {
  let block = Buffer.allocUnsafeSlow(blockBytes);
  let filled = 0;
  const joined = new Readable({
    read: () => void body.resume(),
    destroy(error, done) {
      block = Buffer.alloc(0);
      done(error);
    },
  });

  function flush(): void {
    const hasRoom = joined.push(block.subarray(0, filled));
    block = Buffer.allocUnsafeSlow(blockBytes);
    filled = 0;
    if (!hasRoom) body.pause();
  }

  body.on('data', (chunk: Buffer) => {
    if (joined.destroyed) return;
    for (let at = 0; at < chunk.length; ) {
      const copied = chunk.copy(block, filled, at);
      at += copied;
      filled += copied;
      if (filled === blockBytes) flush();
    }
  });
  body.on('end', () => {
    if (filled > 0) flush();
    joined.push(null);
  });
  body.on('error', (error) => joined.destroy(error));
  return joined;
}
