import org.apache.flink.api.common.eventtime.TimestampAssigner;
import org.apache.flink.api.common.eventtime.TimestampAssignerSupplier;
import org.apache.flink.api.common.eventtime.Watermark;
import org.apache.flink.api.common.eventtime.WatermarkGenerator;
import org.apache.flink.api.common.eventtime.WatermarkGeneratorSupplier;
import org.apache.flink.api.common.eventtime.WatermarkOutput;
import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.types.Row;

/** Timestamps and watermarks as the rows (kind, timestamp, ...) say: PyFlink cannot have such a strategy in Python. */
public class Scripted implements WatermarkStrategy<Row> {

    @Override
    public TimestampAssigner<Row> createTimestampAssigner(TimestampAssignerSupplier.Context context) {
        return (row, before) -> (Long) row.getField(1);
    }

    @Override
    public WatermarkGenerator<Row> createWatermarkGenerator(WatermarkGeneratorSupplier.Context context) {
        return new WatermarkGenerator<Row>() {
            @Override
            public void onEvent(Row row, long timestamp, WatermarkOutput output) {
                if ("watermark".equals(row.getField(0))) {
                    output.emitWatermark(new Watermark(timestamp));
                }
            }

            @Override
            public void onPeriodicEmit(WatermarkOutput output) {}
        };
    }
}
