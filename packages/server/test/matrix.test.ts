import { describeMatrix, protocols, someProtocols } from './matrix.ts';

describeMatrix((agent) => (agent === 'helper' ? protocols : someProtocols));
