// daemon - start the dynaxd under test on free ports, and end it by pid.
import { spawn } from 'node:child_process';
import path from 'node:path';

const binary = path.resolve(process.env.DYNAXD ?? 'build/dynaxd');

export async function startDaemon(...options) {
  const child = spawn(binary, ['--memory', '--http', '127.0.0.1:0', '--listen', '127.0.0.1:0', '--admin', '127.0.0.1:0',
    ...options], { stdio: ['ignore', 'pipe', 'inherit'] });
  const endpoint = await new Promise((resolve, reject) => {
    let text = '';
    child.stdout.on('data', (chunk) => {
      text += chunk;
      const found = /ready: http ([\d.]+:\d+)/.exec(text);
      if (found) resolve(`http://${found[1]}`);
    });
    child.on('exit', (code) => reject(new Error(`dynaxd ended with ${code}`)));
  });
  const exited = new Promise((resolve) => child.on('exit', resolve));
  return {
    endpoint,
    async stop() {
      child.kill('SIGTERM');
      return exited;
    },
  };
}
