import { describeMatrix, protocols } from './matrix.ts';

describeMatrix(() => protocols);
